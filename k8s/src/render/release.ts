/** `.Release` of the templates. */
export interface Release {
  readonly name: string;
  readonly namespace: string;
  readonly isUpgrade: boolean;
  readonly revision: number;
}
