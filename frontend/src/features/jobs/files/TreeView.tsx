import { Button } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './files.module.css';

/** Deeper ones are folded. */
const OPEN_DEPTH = 2;
const SHOWN = 100;

/** A JSON or YAML document, folded; drawn only as far as it is unfolded. */
export function TreeView({ value, numbers = [] }: { value: unknown; numbers?: readonly string[] }) {
  const { t } = useTranslation();
  const unquoted = useMemo(() => new Set(numbers), [numbers]);
  return (
    <section className={classes.tree} aria-label={t('runpage.preview.tree')}>
      <Node name={null} value={value} depth={0} pointer="" unquoted={unquoted} />
    </section>
  );
}

interface NodeProps {
  name: string | null;
  value: unknown;
  depth: number;
  /** Where it is (RFC 6901). */
  pointer: string;
  /** The texts that are numbers which a browser does not have. */
  unquoted: ReadonlySet<string>;
}

const step = (key: string) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;

function Node({ name, value, depth, pointer, unquoted }: NodeProps) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(depth < OPEN_DEPTH);
  const [shown, setShown] = useState(SHOWN);
  const label = name === null ? null : <strong>{name}: </strong>;
  if (value === null || typeof value !== 'object')
    return (
      <div className={classes.leaf}>
        {label}
        {unquoted.has(pointer) ? String(value) : JSON.stringify(value)}
      </div>
    );
  const entries = Object.entries(value);
  const more = entries.length - shown;
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label}
        <span className={classes.count}>
          {Array.isArray(value) ? '[…]' : '{…}'} {t('runpage.preview.items', { count: entries.length })}
        </span>
      </summary>
      {open && (
        <div>
          {entries.slice(0, shown).map(([key, one]) => (
            <Node
              key={key}
              name={key}
              value={one}
              depth={depth + 1}
              pointer={pointer + step(key)}
              unquoted={unquoted}
            />
          ))}
          {more > 0 && (
            <Button size="compact-xs" variant="subtle" onClick={() => setShown(shown + 10 * SHOWN)}>
              {t('runpage.preview.more', { count: Math.min(more, 10 * SHOWN) })}
            </Button>
          )}
        </div>
      )}
    </details>
  );
}
