require ["fileinto", "imap4flags", "copy", "body", "regex",
         "relational", "comparator-i;ascii-numeric", "date", "index", "subaddress", "vacation"];
/* Lists
   first. */
if header :contains "List-Id" ["<dev.", "<ops."] {
    fileinto "INBOX.Lists";
    stop;
}
if anyof (address :is :domain "From" "shop.example", # a shop
          address :detail ["To", "Cc"] "orders") {
    addflag "\\Seen";
    fileinto :copy "Shops";
} elsif allof (header :matches "Subject" "*invoice*", not size :under 1M) {
    addflag "\\Flagged";
    if exists ["X-Urgent", "X-Boss"] { addflag ["\\Seen", "$work"]; }
    fileinto "Invoices"; keep;
} else {
    if body :text :contains "unsubscribe" { discard; }
    elsif header :value "ge" :comparator "i;ascii-numeric" "X-Spam-Score" "5" { fileinto "Trash"; stop; }
}
if header :count "gt" "Received" "20" { keep; stop; }
if currentdate :zone "+0100" :value "ge" "hour" "22" { addflag "\\Seen"; }
if header :regex "Subject" "^\\[(jira|wiki)\\]" { redirect :copy "bot@a.example"; }
if envelope :is "from" "x@y.example" { discard; stop; }
if header :is :index 1 :last "X-Loop" "me" { stop; fileinto "never"; }
if header :contains "X-Any" "" { fileinto "Any"; }
vacation :days 7 text:
I am away.
..dots
.
;
redirect "all@a.example";
