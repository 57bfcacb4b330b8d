/** Every text of the console. `{name}` stands for a value. The other languages have the same keys. */
export const en = {
  // Frame
  'frame.skip': 'Skip to content',
  'frame.pages': 'Pages',
  'frame.language': 'Language',
  'frame.theme': 'Appearance',
  'frame.theme.system': 'As the system',
  'frame.theme.light': 'Light',
  'frame.theme.dark': 'Dark',
  'frame.signedInAs': 'Token {name}, scope {scope}',
  'frame.signOut': 'Sign out',
  'frame.notFound': 'There is no such page.',
  'page.resolvers': 'Resolvers',

  // Sign-in
  'signIn.title': 'Sign in',
  'signIn.token': 'Token',
  'signIn.hint': 'A token of the management API. It stays in this tab, until the tab is closed.',
  'signIn.submit': 'Sign in',
  'signIn.ended':
    'The token is no longer accepted: it has expired, or was withdrawn. Sign in again.',
  'signIn.refused': 'The token is not accepted.',

  // What went wrong
  'error.unreachable': 'The control plane cannot be reached.',
  'error.forbidden': 'This is refused.',
  'error.notFound': 'This does not exist.',
  'error.conflict': 'This clashes with something that exists.',
  'error.invalid': 'Something in this form is not right.',
  'error.tooMany': 'There are too many calls with this token. Try again in a moment.',
  'error.unavailable':
    'The control plane cannot do this at the moment. Nothing was changed. Try again.',
  'error.unknownOutcome': 'It is not known whether this was done. Look before you repeat it.',
  'error.unexpected': 'This has failed.',
  'error.retry': 'Try again',
  'error.request': 'Request {id}',

  // In several places
  'common.loading': 'Loading …',
  'common.applied': 'In force on {applied} resolvers, as revision {revision}.',
  'common.appliedPartly':
    'In force on {applied} resolvers so far, as revision {revision}. The others follow by themselves.',

  // Resolvers
  'resolvers.none': 'No resolver runs.',
  'resolvers.allLive': '{live} of {all} resolvers are up to date.',
  'resolvers.someLive': 'Only {live} of {all} resolvers are up to date.',
  'resolvers.name': 'Resolver',
  'resolvers.state': 'State',
  'resolvers.state.live': 'Live',
  'resolvers.state.catching_up': 'Catching up',
  'resolvers.state.missing': 'Missing',
  'resolvers.revision': 'Revision',
  'resolvers.lag': 'Behind',
  'resolvers.behind': '{seconds} s, {revisions} changes',
  'resolvers.answers': 'Answers a second',
  'resolvers.hits': 'Cache hits',
  'resolvers.blocked': 'Blocked',
  'resolvers.upstreams': 'Upstreams',
  'resolvers.up': '{count} up',
  'resolvers.down': 'Down: {addresses}',
  'resolvers.catalogue': 'Catalogue',
  'resolvers.seen': 'Last seen',
} as const;

export type Key = keyof typeof en;
export type Texts = Readonly<Record<Key, string>>;
