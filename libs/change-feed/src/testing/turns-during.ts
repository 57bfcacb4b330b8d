/** How many turns the event loop had meanwhile. */
export async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work;
  isOver = true;
  return turns;
}
