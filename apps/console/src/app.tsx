import type { ComponentType, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import {
  allows,
  CallError,
  endedSession,
  type Session,
  session,
  signIn,
  signOut,
  storedToken,
  UNAUTHORIZED,
} from './api.js';
import { Button, Choice, Failure, Field, Loading, Time, useRun } from './components.js';
import { type Key, type Language, language, LANGUAGES, t } from './i18n/index.js';
import { Catalogue } from './pages/catalogue.js';
import { Changes } from './pages/changes.js';
import { Explain } from './pages/explain.js';
import { Init } from './pages/init.js';
import { Orders } from './pages/orders.js';
import { Profile } from './pages/profile.js';
import { Resolvers } from './pages/resolvers.js';
import { hrefOf, type PageProperties, place } from './router.js';
import { theme, THEMES } from './setting.js';

function SignIn(): JSX.Element {
  const [token, setToken] = useState('');
  const { isRunning, error, submit } = useRun(() => signIn(token.trim()));
  const ended = endedSession.value;
  // No header takes some of the characters that may be pasted.
  const isRefused = error instanceof CallError ? error.status === UNAUTHORIZED : error !== null;
  return (
    <form class="card" onSubmit={submit}>
      {ended !== null && error === null && (
        <p class="notice doubtful" role="alert">
          {t('signIn.ended', { name: ended.name })} <EndReason ended={ended} /> {t('signIn.kept')}
        </p>
      )}
      <Field
        label={t('common.token')}
        hint={t('signIn.hint')}
        type="password"
        required
        value={token}
        onValue={setToken}
      />
      <Button isOff={isRunning}>{t('signIn.title')}</Button>
      {isRefused ? (
        <p class="notice bad" role="alert">
          {t('signIn.refused')}
        </p>
      ) : (
        <Failure error={error} />
      )}
    </form>
  );
}

function EndReason({ ended: { expires, timeZone } }: { ended: Session }): JSX.Element {
  if (expires === null || Date.parse(expires) > Date.now()) return <>{t('signIn.withdrawn')}</>;
  return (
    <>
      {t('signIn.expired')} <Time at={expires} timeZone={timeZone} /> ({timeZone}).
    </>
  );
}

interface Page {
  /** Below `/console/`. */
  readonly path: string;
  readonly title: Key;
  readonly component: ComponentType<PageProperties>;
  /** Without this scope the page is not offered; default: `read`. */
  readonly scope?: Session['scope'];
}

/** In the order of the navigation. The first one is what `/console/` shows. */
export const PAGES: readonly Page[] = [
  { path: 'explain', title: 'page.explain', component: Explain },
  { path: 'resolvers', title: 'page.resolvers', component: Resolvers },
  { path: 'profiles', title: 'page.profiles', component: Profile },
  { path: 'changes', title: 'page.changes', component: Changes },
  { path: 'orders', title: 'page.orders', component: Orders },
  { path: 'catalogue', title: 'page.catalogue', component: Catalogue },
  { path: 'init', title: 'page.init', component: Init },
];

export function App(): JSX.Element {
  const [name, rest = ''] = place.value.path.split(/\/(.*)/);
  const page = PAGES.find(
    (one) => one.path === (name || PAGES[0].path) && (rest === '' || one.component === Profile),
  );
  const title = t(session.value === null ? 'signIn.title' : (page?.title ?? 'frame.notFound'));
  const heading = useRef<HTMLHeadingElement>(null);
  const address = `${page?.path}/${rest}`;
  const shown = useRef(address);
  useEffect(() => {
    document.title = `${title} – Weir`;
  }, [title]);
  // A screen reader says where a link has led to, and the keyboard goes on from there.
  useEffect(() => {
    if (shown.current !== address) heading.current?.focus();
    shown.current = address;
  }, [address]);
  // The browser would put `#main` in place of what the page shows.
  const skip = (event: MouseEvent): void => {
    event.preventDefault();
    heading.current?.focus();
  };
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        {t('frame.skip')}
      </a>
      <header>
        <strong class="brand">Weir</strong>
        {session.value !== null && <Navigation current={page?.path} />}
        <Settings />
      </header>
      <main id="main">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {session.value === null ? <StartSession /> : page && <page.component rest={rest} />}
      </main>
      {session.value !== null && (
        <footer class="quiet">{t('frame.zone', { zone: session.value.timeZone })}</footer>
      )}
    </>
  );
}

/** Signs in with the token of a former load of this tab, or asks for one. */
function StartSession(): JSX.Element {
  const token = storedToken();
  const { error, start } = useRun(() => signIn(token ?? ''));
  useEffect(() => {
    if (token !== null) start();
  }, []);
  if (token === null) return <SignIn />;
  return error === null ? <Loading /> : <Failure error={error} retry={start} />;
}

function Navigation({ current }: { current: string | undefined }): JSX.Element {
  return (
    <nav aria-label={t('frame.pages')}>
      <ul>
        {PAGES.filter(({ scope = 'read' }) => allows(scope)).map(({ path, title }) => (
          <li>
            <a href={hrefOf(path)} aria-current={path === current ? 'page' : undefined}>
              {t(title)}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Settings(): JSX.Element {
  const languages = Object.entries(LANGUAGES) as [Language, string][];
  return (
    <div class="settings">
      {session.value !== null && (
        <>
          <span>
            {t('frame.signedInAs', { name: session.value.name, scope: session.value.scope })}
          </span>
          <button type="button" onClick={signOut}>
            {t('frame.signOut')}
          </button>
        </>
      )}
      <Choice
        label={t('frame.language')}
        value={language.value}
        choices={languages}
        onValue={(value) => (language.value = value)}
      />
      <Choice
        label={t('frame.theme')}
        value={theme.value}
        choices={THEMES.map((one) => [one, t(`frame.theme.${one}`)] as const)}
        onValue={(value) => (theme.value = value)}
      />
    </div>
  );
}
