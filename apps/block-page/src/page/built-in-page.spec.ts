import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { BuiltInPage } from './built-in-page.js';
import { LANGUAGES } from '../texts/index.js';
import { displayName, type PageSubject, Wording } from './subject.js';

const EVIL = `"><script>alert(1)</script>&'`;
const plain = { name: undefined, logo: undefined, support: undefined, phone: undefined };
const brand = { ...plain, colour: '#1f4e79', onColour: '#ffffff' };
const english = new Wording('en', 'UTC');
const blocked: PageSubject = {
  kind: 'blocked',
  name: 'blocked.example',
  reason: { code: 'list' },
  target: undefined,
  nextSwitch: undefined,
  pageId: -1,
  incident: undefined,
};

describe('BuiltInPage', () => {
  it('allows its own style by hash, and loads nothing', () => {
    const page = new BuiltInPage(brand);
    const style = /<style>([^]*?)<\/style>/.exec(page.render(blocked, english))?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(page.contentSecurityPolicy).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src data:`,
    );
  });

  it('escapes all inserted values: names, categories and the brand', () => {
    const link = { href: `https://help.example/${EVIL}`, text: EVIL };
    const branded = { ...brand, name: EVIL, logo: `data:image/png,${EVIL}`, support: link };
    const subject: PageSubject = {
      ...blocked,
      name: EVIL,
      target: EVIL,
      reason: { code: 'category', name: EVIL },
    };
    const html = new BuiltInPage(branded).render(subject, english);
    expect(html).not.toContain('<script');
    expect(html).not.toContain(EVIL);
    expect(
      html.match(/&quot;&gt;&lt;script&gt;alert\(1\)&lt;\/script&gt;&amp;&#39;/g),
    ).toHaveLength(8);
  });

  it('has a text for each subject', () => {
    const page = new BuiltInPage(brand);
    expect(page.render(blocked, english)).toContain('<h1>This site is blocked</h1>');
    const others: PageSubject[] = [
      { kind: 'not_blocked', name: 'free.example' },
      { kind: 'no_name' },
      { kind: 'not_ready' },
    ];
    for (const subject of others) {
      const html = page.render(subject, english);
      expect(html).toContain('Try again');
      expect(html).not.toContain('<dl>');
    }
  });

  describe('of a name that is blocked for everybody', () => {
    const page = new BuiltInPage(brand);
    const { name } = blocked;
    const advice = 'The person who manages the filter settings can allow this site.';

    it('says who has ordered it, and offers no way round', () => {
      const texts = { authority: 'Court <A>', reference: '3 O 1/26' };
      const html = page.render({ ...blocked, reason: { code: 'order', texts } }, english);
      expect(html).toContain('<h1>This site is blocked by law</h1>');
      expect(html).toContain(`<bdi>${name}</bdi>`);
      expect(html).toContain('<dt>Ordered by</dt><dd><bdi>Court &lt;A&gt;</bdi></dd>');
      expect(html).toContain('<dt>Reference</dt><dd><bdi>3 O 1/26</bdi></dd>');
      expect(html).not.toContain(advice);
      expect(html).not.toContain('<a ');
    });

    it('says of a secret list no more than that it is blocked by law', () => {
      const reason = { code: 'order', texts: undefined } as const;
      const html = page.render({ ...blocked, name: undefined, reason }, english);
      expect(html).toContain('<h1>This site is blocked by law</h1>');
      expect(html).not.toContain('class="name"');
      expect(html).not.toContain('<dl>');
      expect(html).not.toContain(advice);
    });

    it('names the mandatory category, which may be there by law', () => {
      const show = (isByLaw: boolean) =>
        page.render({ ...blocked, reason: { code: 'mandatory', name: 'Fraud', isByLaw } }, english);
      expect(show(false)).toContain('<h1>This site is blocked for everybody</h1>');
      expect(show(true)).toContain('<h1>This site is blocked by law</h1>');
      for (const html of [show(false), show(true)]) {
        expect(html).toContain('Blocked category: \u2068Fraud\u2069');
        expect(html).not.toContain(advice);
      }
    });
  });

  it('shows the provider, how to reach it, and its logo', () => {
    const page = new BuiltInPage({
      ...brand,
      name: 'Example Net',
      logo: 'data:image/png;base64,AAAA',
      support: { href: 'mailto:help@example.net', text: 'help@example.net' },
      phone: { href: 'tel:+4912345', text: '+49 12345' },
    });
    const html = page.render(blocked, english);
    expect(html).toContain('<title>This site is blocked – Example Net</title>');
    expect(html).toContain('<img src="data:image/png;base64,AAAA" alt="Example Net">');
    expect(html).toContain('<a href="mailto:help@example.net"><bdi>help@example.net</bdi></a>');
    expect(html).toContain('<a href="tel:+4912345"><bdi>+49 12345</bdi></a>');
  });

  it('shows the incident number, tells what it is for, and puts it into a mail to support', () => {
    const helpOf = (href: string, incident: string | undefined) => {
      const page = new BuiltInPage({ ...brand, support: { href, text: 'help' } });
      const html = page.render({ ...blocked, incident }, english);
      expect(html.includes('Incident number')).toBe(incident !== undefined);
      expect(html.includes('<code dir="ltr">AbC-_9</code>')).toBe(incident !== undefined);
      expect(html.includes('Copy the incident number')).toBe(incident !== undefined);
      return /href="([^"]*)"><bdi>help/.exec(html)?.[1];
    };
    const body = 'body=Incident%20number%3A%20AbC-_9';
    const mail = 'mailto:help@example.net';
    expect(helpOf(mail, 'AbC-_9')).toBe(`${mail}?${body}`);
    expect(helpOf(`${mail}?subject=Filter`, 'AbC-_9')).toBe(`${mail}?subject=Filter&amp;${body}`);
    expect(helpOf('https://help.example/', 'AbC-_9')).toBe('https://help.example/');
    expect(helpOf(mail, undefined)).toBe(mail);
  });
});

describe('displayName', () => {
  it('shows a name with U-labels, followed by its A-labels if it has any', () => {
    expect(displayName('xn--bcher-kva.example')).toBe('bücher.example (xn--bcher-kva.example)');
    for (const name of ['example.com', '127.1', '1.2.3', '0x7f.1', 'xn--a.example']) {
      expect(displayName(name)).toBe(name);
    }
  });
});

describe('Wording', () => {
  it('formats times in the time zone of the schedules and in the visitor’s language', () => {
    const nextSwitch = { atMs: Date.UTC(2026, 10, 23, 6, 30), isInPeriod: true };
    const said = (language: 'de' | 'ar' | 'en') =>
      new Wording(language, 'Europe/Berlin').schedule(nextSwitch).replace(/[\u2068\u2069]/g, '');
    expect(said('de')).toBe('Diese Einstellungen gelten bis: Montag, 07:30');
    expect(said('en')).toBe('These settings apply until: Monday 07:30');
    expect(said('ar')).toContain('تسري هذه الإعدادات حتى');
  });

  it.each(LANGUAGES)(
    'says in %s of what a reason is, if it is known, and until when',
    (language) => {
      const wording = new Wording(language, 'UTC');
      for (const code of ['category', 'application'] as const) {
        expect(wording.reason({ code, name: 'VALUE' })).toMatch(/: \u2068VALUE\u2069$/);
        expect(wording.reason({ code, name: undefined })).toMatch(/^[^:]+$/);
      }
      for (const isInPeriod of [true, false]) {
        expect(wording.schedule({ atMs: 0, isInPeriod })).toMatch(/: \u2068.+\u2069$/);
      }
    },
  );

  it('puts a space before the colon in French', () => {
    const reason = new Wording('fr', 'UTC').reason({ code: 'category', name: 'Jeux' });
    expect(reason).toBe('Catégorie bloquée : \u2068Jeux\u2069');
  });

  it('isolates inserted texts from the direction of the sentence', () => {
    const reason = new Wording('ar', 'UTC').reason({ code: 'category', name: 'Gambling' });
    expect(reason).toBe('فئة محجوبة: \u2068Gambling\u2069');
  });
});
