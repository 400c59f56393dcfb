// Package drivertest is the specification of a [driver.Driver] as tests: [Run] checks that a database engine meets
// every requirement of package driver. Each case has an explanation of the fault of a driver that fails it, which a
// failure prints.
//
//	func TestConformance(t *testing.T) {
//		drivertest.Run(t, func(t *testing.T) driver.Driver { return open(t) })
//	}
package drivertest
