import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isFault, type Schemas, send } from '../api.js';
import { ChangesTable } from '../changes-table.js';
import { Failure, Field } from '../components.js';
import { hrefOf, navigate, place, useDraft } from '../router.js';
import { t } from '../i18n/index.js';

type Change = Schemas['ChangeAnswer'];

const FIRST = 100;
/** Older ones leave the page. */
const MAX_SHOWN = 1_000;
const PAUSE_MS = 1_000;

interface Stream {
  /** Newest first. */
  readonly changes: readonly Change[];
  readonly isLive: boolean;
  readonly error: unknown;
}

export function Changes(): JSX.Element {
  const { params } = place.value;
  const { changes, isLive, error } = useChanges(
    params.get('profile_id') ?? '',
    params.get('token') ?? '',
  );
  return (
    <>
      <Filter params={params} />
      <Failure error={error} />
      <p role="status">
        {!isFault(error) && (
          <span class={`badge ${isLive ? 'good' : 'doubtful'}`}>
            {t(isLive ? 'changes.live' : 'changes.connecting')}
          </span>
        )}
      </p>
      {(isLive || changes.length > 0) && <ChangesTable changes={changes} />}
    </>
  );
}

function Filter({ params }: { params: URLSearchParams }): JSX.Element {
  const [profile, setProfile] = useDraft('profile', params.get('profile_id') ?? '');
  const [token, setToken] = useDraft('token', params.get('token') ?? '');
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    navigate(hrefOf('changes', { profile_id: profile.trim(), token: token.trim() }));
  };
  return (
    <form class="card" onSubmit={submit}>
      <Field label={t('page.profiles')} inputMode="numeric" value={profile} onValue={setProfile} />
      <Field label={t('common.token')} value={token} onValue={setToken} />
      <button type="submit">{t('changes.filter')}</button>
    </form>
  );
}

/** The newest changes and those that come, through breaks of the connection. */
function useChanges(profile: string, token: string): Stream {
  const [stream, setStream] = useState<Stream>({ changes: [], isLive: false, error: null });
  useEffect(() => {
    const abort = new AbortController();
    let newest: number | undefined;
    const add = (change: Change): void => {
      newest = change.revision;
      setStream(({ changes, ...rest }) => ({
        ...rest,
        changes: [change, ...changes].slice(0, MAX_SHOWN),
      }));
    };
    const run = async (): Promise<void> => {
      setStream({ changes: [], isLive: false, error: null });
      while (!abort.signal.aborted) {
        let error: unknown = null;
        try {
          const query = hrefOf('', {
            ...(newest === undefined ? { last: FIRST } : { after: newest }),
            profile_id: profile,
            token,
          }).split('#')[1];
          await readEvents(`/changes/?${query}`, abort.signal, add, () =>
            setStream(({ changes }) => ({ changes, isLive: true, error: null })),
          );
        } catch (caught) {
          error = caught;
        }
        if (abort.signal.aborted) return;
        setStream(({ changes }) => ({ changes, isLive: false, error }));
        if (isFault(error)) return;
        await new Promise((resolve) => window.setTimeout(resolve, PAUSE_MS));
      }
    };
    void run();
    return () => abort.abort();
  }, [profile, token]);
  return stream;
}

/** Reads a stream of events until its connection ends. */
async function readEvents(
  path: string,
  signal: AbortSignal,
  onChange: (change: Change) => void,
  onOpen: () => void,
): Promise<void> {
  const { body } = await send(
    new Request(path, { headers: { Accept: 'text/event-stream' }, signal }),
  );
  if (body === null) return;
  onOpen();
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ''; ;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data:')) onChange(JSON.parse(line.slice('data:'.length)) as Change);
    }
  }
}
