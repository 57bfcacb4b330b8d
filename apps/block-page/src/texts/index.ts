import { ar } from './ar.js';
import { de } from './de.js';
import { en } from './en.js';
import { es } from './es.js';
import { fr } from './fr.js';
import { it } from './it.js';
import { pl } from './pl.js';
import { pt } from './pt.js';
import { ru } from './ru.js';
import { type Language, type Texts } from './texts.js';
import { tr } from './tr.js';

export { type Language, LANGUAGES, type Message, type Texts } from './texts.js';

/** The texts of every language. A language or a text that is missing does not compile. */
export const TEXTS: Readonly<Record<Language, Texts>> = { en, de, fr, es, pt, it, pl, ru, tr, ar };
