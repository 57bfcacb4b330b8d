/** What may take the focus over. A row is among them: it does nothing when a key is pressed once more. */
const PLACES = 'main :is(tr, a[href], button, input, select, summary, [tabindex="0"])';

/** What has the focus, and the places after it on the page. */
let places: readonly HTMLElement[] = [];

document.addEventListener('focusin', ({ target }) => {
  const focused = target as HTMLElement;
  const isAfter = (one: Element): boolean =>
    (focused.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
  places = [focused, ...[...document.querySelectorAll<HTMLElement>(PLACES)].filter(isAfter)];
});

/** Somebody who clicks where nothing takes the focus has left the page: then nothing takes it over. */
const forgetLeft = (): void => {
  if (document.activeElement === document.body && places[0]?.isConnected) places = [];
};
document.addEventListener('focusout', () => window.setTimeout(forgetLeft));

/** When what has the focus is taken away, the next place gets it; when it is only moved, it keeps it. */
new MutationObserver((records) => {
  const hasFocused = (one: Node): boolean => one.contains(places[0]);
  const isTaken = records.some(({ removedNodes }) => [...removedNodes].some(hasFocused));
  if (!isTaken || document.activeElement !== document.body) return;
  const next = places.find((one) => one.isConnected) ?? document.querySelector('h1');
  if (next === null) return;
  // A row takes no focus without this.
  if (next.tabIndex < 0) next.tabIndex = -1;
  next.focus({ preventScroll: true });
}).observe(document.body, { childList: true, subtree: true });
