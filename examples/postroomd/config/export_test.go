package config

// IsSecret reports whether the setting is a secret.
func IsSecret(key string) bool {
	_, is := find(key).field(&Config{}).(*Secret)
	return is
}
