import type { ReactNode } from 'react';
import classes from './KeyValueList.module.css';

/** Facts as a description list; entries whose value is null, undefined or false are left out. */
export function KeyValueList({ items }: { items: [label: string, value: ReactNode][] }) {
  return (
    <dl className={classes.list}>
      {items.map(
        ([label, value]) =>
          value != null &&
          value !== false && (
            <div key={label} className={classes.row}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
