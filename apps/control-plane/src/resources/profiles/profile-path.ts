import { MAX_ID } from '@weir/config-model';
import { Example } from '../../http/validation/examples.js';
import { PathInteger } from '../../http/validation/fields.js';

/** Path of what belongs to one profile. */
@Example<ProfilePath>({ profile_id: 1 })
export class ProfilePath {
  @PathInteger(0, MAX_ID)
  profile_id!: number;
}
