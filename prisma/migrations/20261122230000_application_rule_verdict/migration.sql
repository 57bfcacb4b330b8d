-- Allow and deny are stored one way: application_rule gets the verdict that domain_rule has, 1 for allow and 2 for
-- deny. This release uses only the verdict. The release before it uses only the status, so a trigger derives the one
-- that a statement omits. A later release drops status, its type, the trigger and the function.

-- locks: nobody reads or writes application_rule while its rows are written anew: 3 to 4 s for each million of them on
-- two busy cores. Other tables stay in use.
-- Generated, because PostgreSQL then fills in all rows without a trigger or a dead row. From then on a plain column.
ALTER TABLE application_rule
  ADD verdict smallint NOT NULL
    GENERATED ALWAYS AS (CASE status WHEN 'allow' THEN 1 WHEN 'deny' THEN 2 END) STORED,
  ADD CONSTRAINT application_rule_verdict CHECK (verdict IN (1, 2));
ALTER TABLE application_rule ALTER verdict DROP EXPRESSION;

CREATE FUNCTION complete_application_rule() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.verdict IS NULL OR TG_OP = 'UPDATE' AND NEW.status <> OLD.status THEN
    NEW.verdict := CASE NEW.status WHEN 'allow' THEN 1 WHEN 'deny' THEN 2 END;
  ELSE
    NEW.status := CASE NEW.verdict WHEN 1 THEN 'allow' WHEN 2 THEN 'deny' END;
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER complete_application_rule BEFORE INSERT OR UPDATE ON application_rule
  FOR EACH ROW EXECUTE FUNCTION complete_application_rule();
-- Also during POST /init/, which turns other triggers off.
ALTER TABLE application_rule ENABLE ALWAYS TRIGGER complete_application_rule;
