package safehtml_test

import (
	"fmt"

	"github.com/postroom-go/postroom/mime/safehtml"
)

func ExampleClean() {
	page := safehtml.Clean(`<p onclick="steal()">Dear customer,<script>steal()</script>
<img src="https://tracker.example/1.gif" alt="our logo"> is new.
<p><a href="https://shop.example/">Look</a>`, nil)
	fmt.Println(page.HTML)
	fmt.Println(page.NotLoaded, "picture is not loaded")
	// Output:
	// <p>Dear customer,
	// [our logo]  is new.
	// </p><p><a href="https://shop.example/" title="shop.example" target="_blank" rel="noopener noreferrer">Look</a></p>
	// 1 picture is not loaded
}
