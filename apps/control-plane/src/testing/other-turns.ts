/** Runs long work. @returns how often other callbacks of the event loop ran before it had ended. */
export async function otherTurns(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const other = (): void => {
    turns++;
    next = setImmediate(other);
  };
  let next = setImmediate(other);
  await work();
  clearImmediate(next);
  return turns;
}
