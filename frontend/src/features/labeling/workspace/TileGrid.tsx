import { type MouseEvent, type RefObject, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import type { Label, LeasedSlot } from '@/api/contract/labeling';
import { Thumb } from '@/shared/grid/Thumb';
import { ERROR_CODES, type ErrorCode } from '../audit/audit';
import { LabelChip } from '../LabelChip';
import classes from '../tiles.module.css';
import { type Grid, hasOwnLabels, labelsOf } from './grid';

export interface TileGridProps {
  grid: Grid;
  slots: ReadonlyMap<string, LeasedSlot>;
  labels: ReadonlyMap<number, Label>;
  columns: number;
  listRef: RefObject<HTMLDivElement | null>;
  onTile: (index: number, event: MouseEvent) => void;
}

const tileId = (index: number) => `tile-${index}`;
const KNOWN_CODES: readonly string[] = ERROR_CODES;
const fileName = (path: string) => path.slice(path.lastIndexOf('/') + 1);

/** The images of a batch. One stop for the Tab key: arrows move the cursor inside it. */
export function TileGrid({ grid, slots, labels, columns, listRef, onTile }: TileGridProps) {
  const { t } = useTranslation();
  const { cursor } = grid;
  useEffect(() => {
    document.getElementById(tileId(cursor))?.scrollIntoView?.({ block: 'nearest' });
  }, [cursor]);
  return (
    <div
      ref={listRef}
      className={classes.grid}
      style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}
      role="listbox"
      aria-multiselectable
      aria-label={t('labeling.work.batch')}
      aria-activedescendant={grid.items.length > 0 ? tileId(cursor) : undefined}
      tabIndex={0}
    >
      {grid.items.map(({ id }, index) => {
        const slot = slots.get(id);
        const chosen = labelsOf(grid, id).flatMap((label) => labels.get(label) ?? []);
        const own = hasOwnLabels(grid, id);
        if (!slot) return null;
        const code = slot.returned_code ?? '';
        const reason = KNOWN_CODES.includes(code) ? t(`labeling.audit.code.${code as ErrorCode}`) : code;
        const remarks = slot.issues?.filter(({ state }) => state !== 'resolved').map(({ text }) => text) ?? [];
        const why = [slot.returned_comment || reason, ...remarks].filter(Boolean).join(' – ');
        const wrong = slot.label_id === null ? undefined : labels.get(slot.label_id)?.name;
        const returned = why && wrong ? t('labeling.work.youChose', { label: wrong, why: inSentence(why) }) : why;
        const name = fileName(slot.path);
        const classNames = chosen.map((label) => label.name).join(', ');
        const words = { name, label: classNames || t('labeling.work.noLabel') };
        return (
          // biome-ignore lint/a11y/useFocusableInteractive: the listbox has the focus, aria-activedescendant names the option
          // biome-ignore lint/a11y/useKeyWithClickEvents: the workspace handles the keys
          <div
            key={id}
            id={tileId(index)}
            role="option"
            aria-selected={grid.selected.has(index)}
            aria-label={
              returned ? t('labeling.work.returnedTile', { ...words, returned }) : t('labeling.work.tile', words)
            }
            className={classes.tile}
            data-exception={own || undefined}
            data-returned={(returned && !own) || undefined}
            data-cursor={index === cursor || undefined}
            style={{ '--tile-color': chosen[0]?.color } as React.CSSProperties}
            onMouseDown={(event) => event.preventDefault()}
            onClick={(event) => onTile(index, event)}
          >
            <Thumb src={slot.thumb_url ?? slot.media_url} />
            {returned && <span className={classes.comment}>{returned}</span>}
            <span className={classes.caption}>
              {chosen.map((label) => (
                <LabelChip key={label.id} label={label} faded={!own} />
              ))}
            </span>
          </div>
        );
      })}
    </div>
  );
}

/** A reason as part of a sentence; Chinese has no capitals. */
function inSentence(why: string): string {
  return why.charAt(0).toLowerCase() + why.slice(1);
}
