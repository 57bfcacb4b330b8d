/** Why a name is blocked (decisions §7). */
export type BlockReason =
  /** @param name in the catalogue; undefined: it has none */
  | { readonly code: 'category'; readonly name: string | undefined }
  | { readonly code: 'application'; readonly name: string | undefined }
  | { readonly code: 'list' }
  | { readonly code: 'allow_list_only' };

/** The next switch of the weekly schedule of the subscriber's profile. */
export interface NextSwitch {
  readonly atMs: number;
  /** Whether now is inside a period. */
  readonly isInPeriod: boolean;
}

/** What a page tells its visitor. Names are normalised domains. */
export type PageSubject =
  | {
      readonly kind: 'blocked';
      readonly name: string;
      readonly reason: BlockReason;
      /** The CNAME target that is blocked, when the name itself is not. */
      readonly target: string | undefined;
      readonly nextSwitch: NextSwitch | undefined;
      /** Block page of the active profile; −1: the default page. */
      readonly pageId: number;
      /** Tells support what happened. Undefined: there is none. */
      readonly incident: string | undefined;
    }
  | { readonly kind: 'not_blocked'; readonly name: string }
  /** The request has no name: somebody opened the address itself. */
  | { readonly kind: 'no_name' }
  /** There is no configuration yet. */
  | { readonly kind: 'not_ready' };

export type BlockedSubject = Extract<PageSubject, { kind: 'blocked' }>;

/** The HTTP status that goes with a page. */
export const STATUS: Readonly<Record<PageSubject['kind'], number>> = {
  blocked: 403,
  not_blocked: 404,
  no_name: 404,
  not_ready: 503,
};
