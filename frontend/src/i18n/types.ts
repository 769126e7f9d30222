type Plural<K> = K extends `${infer Base}_one` ? Base : never;

/**
 * The shape that a translation of `T` must have: the same keys, except that `_one` may be left out
 * (Chinese has one plural form, `_other`).
 */
export type Translation<T> = {
  [K in keyof T as Plural<K> extends never ? K : never]: T[K] extends string ? string : Translation<T[K]>;
} & { [K in keyof T as Plural<K> extends never ? never : K]?: string };
