import { MAX_ID } from '@weir/config-model';
import { PathInteger } from '../validation/fields.js';

/** Path of what belongs to one profile. */
export class ProfilePath {
  @PathInteger(0, MAX_ID)
  profile_id!: number;
}
