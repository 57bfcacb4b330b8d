import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { actAs } from '../revisions/author.js';
import { ChangeServices } from '../testing/change-services.js';
import { clientAnswer } from '../testing/client-answer.js';
import { type ChangeRequest, changeRequests } from '../testing/random-changes.js';

const adminUrl = inject('databaseUrl');

/** Time between reading and writing, in which others may come. */
const SLOW_WRITES = `
  CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(random() * 0.01); RETURN NULL; END $$;
  CREATE TRIGGER pause BEFORE INSERT OR DELETE ON domain_rule EXECUTE FUNCTION pause();
  CREATE TRIGGER pause BEFORE INSERT OR DELETE ON napt_assignment EXECUTE FUNCTION pause();`;

const answer = (request: ChangeRequest, services: ChangeServices) =>
  clientAnswer(actAs({ origin: 'repair' }, () => request(services)));

describe('large changes', () => {
  let alone: ChangeServices;
  let large: ChangeServices;
  let other: ChangeServices;

  beforeAll(async () => {
    [alone, large] = await Promise.all([
      ChangeServices.start(adminUrl),
      // Every change that can be made as a large one is.
      ChangeServices.start(adminUrl, 0),
    ]);
    other = large.replica(1);
    await large.sql.query(SLOW_WRITES);
  });
  afterAll(async () => {
    await other.database.close();
    await Promise.all([alone.stop(), large.stop()]);
  });

  it('have the answers, revisions, log and rows of any other change', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(changeRequests, { minLength: 40, maxLength: 80 }),
        async (script) => {
          await Promise.all([alone.empty(), large.empty()]);
          for (const request of script) {
            expect(await answer(request, large)).toEqual(await answer(request, alone));
          }
          expect(await large.rows()).toEqual(await alone.rows());
        },
      ),
      { numRuns: 6, endOnFailure: true },
    );
  }, 240_000);

  it('of two replicas, among small ones, leave what the same changes leave one by one', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(changeRequests, { minLength: 60, maxLength: 120 }),
        async (script) => {
          await Promise.all([alone.empty(), large.empty()]);
          const made = await Promise.all(
            script.map(async (request, i) => ({
              request,
              answer: await answer(request, i % 2 === 0 ? large : other),
            })),
          );
          const inOrder = made
            .filter((one) => 'revision' in one.answer)
            .sort((a, b) => a.answer.revision! - b.answer.revision!);
          for (const one of inOrder) {
            expect(await answer(one.request, alone)).toEqual(one.answer);
          }
          expect(await large.rows()).toEqual(await alone.rows());
        },
      ),
      { numRuns: 12, endOnFailure: true },
    );
  }, 240_000);
});
