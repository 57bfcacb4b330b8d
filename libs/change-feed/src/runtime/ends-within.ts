const TICK_MS = 50;

/**
 * Whether the work ends within about this time, well or not. What counts is how often a short timer has fired: a
 * process that was itself suspended, or got no processor, does not blame the work.
 */
export async function endsWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const tooLong = Promise.withResolvers<false>();
  let waitedMs = 0;
  const timer = setInterval(() => {
    waitedMs += TICK_MS;
    if (waitedMs >= limitMs) tooLong.resolve(false);
  }, TICK_MS);
  const ended = work.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([ended, tooLong.promise]);
  } finally {
    clearInterval(timer);
  }
}
