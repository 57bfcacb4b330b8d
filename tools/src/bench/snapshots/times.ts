/** When the first, half and all of them had ended. @param endsMs since the start */
export function showTimes(endsMs: readonly number[]): string {
  const sorted = endsMs.toSorted((a, b) => a - b);
  const at = (share: number): string => {
    const index = Math.max(1, Math.ceil(share * sorted.length)) - 1;
    return ((sorted[index] ?? 0) / 1_000).toFixed(1);
  };
  return `first after ${at(0)} s, half after ${at(0.5)} s, all after ${at(1)} s`;
}
