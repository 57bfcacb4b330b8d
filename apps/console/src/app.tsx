import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { allows, session, signIn, signOut, storedToken } from './api.js';
import { Choice, Failure, Loading } from './components.js';
import { type Language, language, LANGUAGES, t } from './i18n/index.js';
import { PAGES } from './pages/index.js';
import { hrefOf, place } from './router.js';
import { SignIn } from './sign-in.js';
import { theme, THEMES } from './theme.js';

export function App(): JSX.Element {
  const { path } = place.value;
  const [name, rest = ''] = path.split(/\/(.*)/);
  const page = PAGES.find((one) => one.path === (name || PAGES[0].path));
  const title =
    session.value === null ? t('signIn.title') : page ? t(page.title) : t('error.notFound');
  const heading = useRef<HTMLHeadingElement>(null);
  const shown = useRef(path);
  useEffect(() => {
    document.title = `${title} – Weir`;
  }, [title]);
  // A screen reader says where a link has led to, and the keyboard goes on from there.
  useEffect(() => {
    if (shown.current !== path) heading.current?.focus();
    shown.current = path;
  }, [path]);
  return (
    <>
      <a class="skip" href="#main" onClick={() => heading.current?.focus()}>
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
        {session.value === null ? (
          <StartSession onSignedIn={() => heading.current?.focus()} />
        ) : page === undefined ? (
          <p>{t('frame.notFound')}</p>
        ) : (
          <page.component rest={decodeURIComponent(rest)} />
        )}
      </main>
      {session.value !== null && (
        <footer class="quiet">{t('frame.zone', { zone: session.value.timeZone })}</footer>
      )}
    </>
  );
}

/** Signs in with the token of a former load of this tab, or asks for one. */
function StartSession({ onSignedIn }: { onSignedIn: () => void }): JSX.Element {
  const [token] = useState(storedToken);
  const [error, setError] = useState<unknown>(null);
  const [isTrying, setTrying] = useState(token !== null);
  const enter = (): void => {
    setError(null);
    if (token !== null)
      void signIn(token)
        .catch(setError)
        .then(() => setTrying(storedToken() !== null));
  };
  useEffect(enter, []);
  if (!isTrying) return <SignIn onSignedIn={onSignedIn} />;
  return error === null ? <Loading /> : <Failure error={error} retry={enter} />;
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
