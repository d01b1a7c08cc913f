-- JSON; null for budgets without these.
ALTER TABLE tollgate.budgets ADD COLUMN scope text;
ALTER TABLE tollgate.budgets ADD COLUMN terms text;
DROP INDEX tollgate.budgets_of_teams;
DROP INDEX tollgate.budgets_of_models;
CREATE UNIQUE INDEX budgets_by_scope ON tollgate.budgets (team, coalesce(model, ''), period, coalesce(scope, ''));
