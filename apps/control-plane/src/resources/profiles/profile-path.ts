import { MAX_ID } from '@weir/config-model';
import { Example } from '../../http/validation/dto.js';
import { PathInteger } from '../../http/validation/rules.js';

/** Path parameter of a profile and of everything below it. */
@Example<ProfilePath>({ profile_id: 1 })
export class ProfilePath {
  @PathInteger(0, MAX_ID)
  profile_id!: number;
}
