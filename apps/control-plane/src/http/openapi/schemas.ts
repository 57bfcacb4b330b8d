import type { DtoClass } from '../validation/dto-class.js';
import { exampleOf } from '../validation/examples.js';
import { type Field, fieldsOf } from '../validation/fields-of.js';
import type { ValueSchema } from '../validation/rule-context.js';
import { MAX_ITEMS } from '../validation/rules.js';

/** Whether a schema describes a request or a response. In a response, every field is present. */
export type Direction = 'request' | 'answer';

/** The named schemas of classes, made from the fields that validation reads. */
export class ComponentSchemas {
  readonly schemas: Record<string, ValueSchema> = {};
  private readonly owners = new Map<string, DtoClass>();

  /**
   * A reference to the schema of a class, or the schema of an array of it.
   * @throws Error when two classes have the same name.
   */
  refer(type: DtoClass | readonly [DtoClass], direction: Direction): ValueSchema {
    if (Array.isArray(type)) {
      const items = this.refer((type as readonly [DtoClass])[0], direction);
      return { type: 'array', items, ...(direction === 'request' && { maxItems: MAX_ITEMS }) };
    }
    const one = type as DtoClass;
    const name = nameOf(one, direction);
    const owner = this.owners.get(name) ?? one;
    if (owner !== one) throw new Error(`two classes are called ${name}`);
    if (!this.owners.has(name)) {
      this.owners.set(name, one);
      this.schemas[name] = this.describe(one, direction);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  private describe(type: DtoClass, direction: Direction): ValueSchema {
    const fields = fieldsOf(type);
    const defaults = new type() as Record<string, unknown>;
    const required = fields.filter((field) => field.required || direction === 'answer');
    return {
      type: 'object',
      additionalProperties: false,
      ...(required.length > 0 && { required: required.map(({ name }) => name) }),
      properties: Object.fromEntries(
        fields.map((field) => [
          field.name,
          this.property(
            field,
            direction,
            direction === 'answer' ? undefined : defaults[field.name],
          ),
        ]),
      ),
      example: exampleOf(type),
    };
  }

  private property(
    { schema, type, isList }: Field,
    direction: Direction,
    defaultValue: unknown,
  ): ValueSchema {
    if (type !== undefined && isList) return { ...schema, items: this.refer(type, direction) };
    if (type !== undefined) return this.refer(type, direction);
    return defaultValue === undefined ? schema : { ...schema, default: defaultValue };
  }
}

/**
 * `ProfileDto` is `Profile` in requests. In responses it is `ProfileAnswer` if some of its fields are optional in
 * requests.
 */
function nameOf(type: DtoClass, direction: Direction): string {
  const name = type.name.replace(/Dto$/, '');
  return direction === 'answer' && mayOmit(type) ? `${name}Answer` : name;
}

function mayOmit(type: DtoClass): boolean {
  return fieldsOf(type).some((field) => !field.required || (field.type && mayOmit(field.type)));
}
