import { type TSchema, type TUnsafe, Type } from 'typebox';

/** What the user writes: text such as `10m`. What the code gets: a number, under a name that ends in `Ms`. */
export type DurationText = string & { readonly __kind: 'duration' };
/** What the user writes: text such as `50MB`. What the code gets: a number, under a name that ends in `Bytes`. */
export type BytesText = string & { readonly __kind: 'bytes' };

/** Notes every setting carries beside its type; they make the reference page. */
export interface SettingNotes {
  readonly description: string;
  /** shown in the reference: `pages`, `pods` */
  readonly unit?: string;
}

interface DurationOptions extends SettingNotes {
  readonly default: string;
  /** inclusive bounds, as text */
  readonly min?: string;
  readonly max?: string;
}

export function duration(options: DurationOptions): TUnsafe<DurationText> {
  return Type.Unsafe<DurationText>({ type: 'string', 'x-kind': 'duration', ...options });
}

export function bytes(options: DurationOptions): TUnsafe<BytesText> {
  return Type.Unsafe<BytesText>({ type: 'string', 'x-kind': 'bytes', ...options });
}

/** An object that refuses unknown keys and may be left out wholly: its members have defaults. */
export function section<P extends Record<string, TSchema>>(properties: P, notes: SettingNotes) {
  return Type.Object(properties, { additionalProperties: false, default: {}, ...notes });
}

type Camel<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;

/** The code's form of a written value: names in camel case, durations as `…Ms`, sizes as `…Bytes`, all present and frozen. */
export type Resolved<T> = T extends readonly (infer U)[]
  ? readonly Resolved<U>[]
  : T extends DurationText | BytesText
    ? number
    : T extends object
      ? {
          readonly [K in keyof T & string as T[K] extends DurationText
            ? `${Camel<K>}Ms`
            : T[K] extends BytesText
              ? `${Camel<K>}Bytes`
              : Camel<K>]: Resolved<T[K]>;
        }
      : T;
