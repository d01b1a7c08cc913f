-- JSON; null for budgets without these.
ALTER TABLE budgets ADD COLUMN scope TEXT;
ALTER TABLE budgets ADD COLUMN terms TEXT;
DROP INDEX budgets_of_teams;
DROP INDEX budgets_of_models;
CREATE UNIQUE INDEX budgets_by_scope ON budgets (team, ifnull(model, ''), period, ifnull(scope, ''));
