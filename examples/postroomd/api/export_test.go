package api

// SchemaNames are the names of types in the description.
var SchemaNames = schemaNames
