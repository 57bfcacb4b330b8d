import type { Brand } from '../brand/brand.js';

/*
 * Colours are chosen for a contrast of at least 4.5:1 between text and background (WCAG 2.2, 1.4.3), in light and dark.
 * The brand's colour is only used as a background, with black or white text on it.
 */
const SHEET = `
:root {
  color-scheme: light dark;
  --back: #f2f4f7; --card: #fff; --line: #d5dbe4;
  --text: #1a2230; --soft: #4c586b; --link: #0b57d0; --stop: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #10141b; --card: #1b212b; --line: #39424f;
    --text: #eef1f6; --soft: #b3bdcc; --link: #a8c7fa; --stop: #ff8a80;
  }
}
* { box-sizing: border-box }
body {
  margin: 0; min-height: 100vh; display: flex; flex-direction: column;
  background: var(--back); color: var(--text);
  font: 1.0625rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
header {
  display: flex; align-items: center; gap: .75rem; min-height: .5rem; padding: .875rem 1.5rem;
  background: var(--brand); color: var(--on-brand); font-weight: 600; overflow-wrap: anywhere;
}
header.bare { padding: 0 }
header img { display: block; max-height: 2.5rem; max-width: 60vw }
main { width: 100%; max-width: 40rem; margin: auto; padding: 2rem 1rem }
.card {
  padding: 2rem; border: 1px solid var(--line); border-radius: 1rem;
  background: var(--card); overflow-wrap: anywhere;
}
svg { display: block; width: 3.5rem; height: 3.5rem; color: var(--soft) }
.stop { color: var(--stop) }
h1 { margin: 1rem 0 .25rem; font-size: 1.75rem; line-height: 1.25 }
.name { margin: 0 0 1rem; font-size: 1.25rem; font-weight: 600; color: var(--soft) }
p { margin: .75rem 0 }
dl { margin: 1.5rem 0; border-top: 1px solid var(--line) }
dl div { display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: .75rem 0; border-bottom: 1px solid var(--line) }
dt { flex: 0 0 8rem; color: var(--soft) }
dd { flex: 1 1 14rem; margin: 0; font-weight: 600 }
a { color: var(--link); text-underline-offset: .2em }
a:focus-visible { outline: 3px solid var(--link); outline-offset: 3px; border-radius: .25rem }
.button {
  display: inline-block; margin: .5rem 0; padding: .75rem 1.5rem;
  border: 1px solid var(--soft); border-radius: .5rem;
  background: var(--brand); color: var(--on-brand); font-weight: 600; text-decoration: none;
}
.help a { display: inline-block; min-height: 1.5rem; margin-inline-end: 1.25rem }
footer { padding: 0 1.5rem 1.5rem; text-align: center; color: var(--soft); font-size: .875rem }
@media (max-width: 30rem) { .card { padding: 1.25rem } h1 { font-size: 1.5rem } }
`;

/** The style sheet of the built-in page in the colours of a brand. */
export function styleOf({ colour, onColour }: Pick<Brand, 'colour' | 'onColour'>): string {
  const sheet = SHEET.replaceAll(/\s*\n\s*/g, ' ').trim();
  return `:root { --brand: ${colour}; --on-brand: ${onColour} } ${sheet}`;
}
