package drivertest

import (
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

func ofTypes(name string) driver.Target { return driver.Target{Kind: driver.TargetType, Name: name} }
func ofKey(key string) driver.Target    { return driver.Target{Kind: driver.TargetKey, Name: key} }
func ofPrefix(p string) driver.Target   { return driver.Target{Kind: driver.TargetKeyPrefix, Name: p} }
func ofAll() driver.Target              { return ofTypes(driver.AllTypes) }

func forever(name string) driver.Key { return driver.Key{Name: name, Scope: driver.KeyForever} }
func whileUnfinished(name string) driver.Key {
	return driver.Key{Name: name, Scope: driver.KeyUnfinished}
}
func coalesce(name string) driver.Key { return driver.Key{Name: name, Scope: driver.KeyCoalesce} }
func forPeriod(name string, period time.Duration) driver.Key {
	return driver.Key{Name: name, Scope: driver.KeyPeriod, Period: period}
}
