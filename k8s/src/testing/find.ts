import type { KubernetesObject } from '../objects/testing/kubernetes-object.js';

/** The only object of a kind and name. @throws Error when there is none, or several. */
export function findObject(
  objects: readonly KubernetesObject[],
  kind: string,
  name: string,
): KubernetesObject {
  const found = objects.filter((one) => one.kind === kind && one.metadata.name === name);
  if (found.length !== 1) throw new Error(`${found.length} objects with the name ${kind} ${name}`);
  return found[0];
}

/** Data of a Secret in plain text. */
export function secretTexts(
  objects: readonly KubernetesObject[],
  name: string,
): Readonly<Record<string, string>> {
  const { data } = findObject(objects, 'Secret', name);
  return Object.fromEntries(
    Object.entries(data as Record<string, string>).map(([key, value]) => [
      key,
      Buffer.from(value, 'base64').toString(),
    ]),
  );
}
