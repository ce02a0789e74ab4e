"""Tables that go with genotypes: traits of people, and associations of variants with alleles."""
