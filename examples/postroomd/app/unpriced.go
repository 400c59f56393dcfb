package app

// Unpriced returns the configured models without a known price.
func (m *Models) Unpriced() []string {
	names := []string{}
	for _, m := range m.configuredModels() {
		if !m.Priced() {
			names = append(names, modelName(m))
		}
	}
	return names
}
