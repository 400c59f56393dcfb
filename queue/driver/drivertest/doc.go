// Package drivertest is the specification of a [driver.Driver] as tests: [Run] checks that a database engine keeps every
// promise of package driver. Each case carries an explanation, which a failure prints, of what a driver that fails it does
// wrong.
//
//	func TestConformance(t *testing.T) {
//		drivertest.Run(t, func(t *testing.T) driver.Driver { return open(t) })
//	}
package drivertest
