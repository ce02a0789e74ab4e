"""What the penalised regressor and classifier share: the path, the choice of alpha, terms as given."""
