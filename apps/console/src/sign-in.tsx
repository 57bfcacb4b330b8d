import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { CallError, endedSession, type Session, signIn } from './api.js';
import { Failure, Field, Time } from './components.js';
import { t } from './i18n/index.js';

const UNAUTHORIZED = 401;

export function SignIn({ onSignedIn }: { onSignedIn: () => void }): JSX.Element {
  const [token, setToken] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [isRunning, setRunning] = useState(false);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    setError(null);
    setRunning(true);
    signIn(token.trim())
      .then(onSignedIn)
      .catch(setError)
      .finally(() => setRunning(false));
  };
  const ended = endedSession.value;
  const isRefused = error instanceof CallError && error.status === UNAUTHORIZED;
  return (
    <form class="card" onSubmit={submit}>
      {ended !== null && error === null && (
        <p class="notice doubtful" role="alert">
          {t('signIn.ended', { name: ended.name })} <EndReason ended={ended} /> {t('signIn.kept')}
        </p>
      )}
      <Field
        label={t('signIn.token')}
        hint={t('signIn.hint')}
        type="password"
        required
        value={token}
        onValue={setToken}
      />
      <button type="submit" disabled={isRunning}>
        {t('signIn.submit')}
      </button>
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
