import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SIZE_BYTES = 32 * 1024 * 1024;

const ran = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0;

/** A file system of its own in a file. While it is frozen, the kernel holds every process that writes to it. */
export class FreezableVolume {
  readonly folder: string;
  private readonly image: string;

  private constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'weir-volume-'));
    this.image = `${this.folder}.img`;
  }

  /** Null where this user may not mount one. */
  static mount(): FreezableVolume | null {
    const volume = new FreezableVolume();
    const { image, folder } = volume;
    writeFileSync(image, '');
    truncateSync(image, SIZE_BYTES);
    const isMounted = ran('mkfs.ext4', '-q', image) && ran('mount', '-o', 'loop', image, folder);
    if (isMounted && volume.freeze() && volume.thaw()) return volume;
    volume.remove();
    return null;
  }

  freeze(): boolean {
    return ran('fsfreeze', '--freeze', this.folder);
  }

  thaw(): boolean {
    return ran('fsfreeze', '--unfreeze', this.folder);
  }

  remove(): void {
    this.thaw();
    ran('umount', '--lazy', this.folder);
    rmSync(this.folder, { recursive: true });
    rmSync(this.image);
  }
}
