import { ActionIcon, Group, VisuallyHidden } from '@mantine/core';
import { IconTrophy, IconX } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ComparedRun } from '@/api/contract/jobs';
import { AnchorLink } from '@/shared/ui/links';
import classes from './compare.module.css';
import { type Look, labelOf } from './looks';
import type { Row, Section } from './rows';
import { Swatch } from './Swatch';

interface CompareTableProps {
  runs: ComparedRun[];
  /** Which runs are shown, by their place. */
  inside: boolean[];
  looks: Map<number, Look>;
  sections: Section[];
  onlyDifferences: boolean;
  onRemove: (run: ComparedRun) => void;
}

/** A column per run, a row per thing that may differ. */
export function CompareTable({ runs, inside, looks, sections, onlyDifferences, onRemove }: CompareTableProps) {
  const { t } = useTranslation();
  const places = runs.map((_, i) => i).filter((i) => inside[i]);
  const wanted = sections
    .map((section) => ({
      ...section,
      rows: onlyDifferences ? section.rows.filter((row) => row.differs) : section.rows,
    }))
    .filter(({ rows }) => rows.length > 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a wide table
    <section className={classes.scroll} tabIndex={0} aria-label={t('compare.table')}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th className={`${classes.run} ${classes.corner}`} scope="col">
              {t('jobs.run')}
            </th>
            {places.map((i) => (
              <RunHead key={runs[i]?.id} run={runs[i] as ComparedRun} looks={looks} onRemove={onRemove} />
            ))}
          </tr>
        </thead>
        {wanted.map((section) => (
          <tbody key={section.id}>
            <tr>
              <th colSpan={places.length + 1} scope="rowgroup">
                <span className={classes.section}>{t(`compare.section.${section.id}`)}</span>
              </th>
            </tr>
            {section.rows.map((row) => (
              <TableRow key={row.id} row={row} places={places} />
            ))}
          </tbody>
        ))}
      </table>
    </section>
  );
}

interface RunHeadProps {
  run: ComparedRun;
  looks: Map<number, Look>;
  onRemove: (run: ComparedRun) => void;
}

function RunHead({ run, looks, onRemove }: RunHeadProps) {
  const { t } = useTranslation();
  return (
    <th className={classes.run} scope="col">
      <Group gap={6} wrap="nowrap">
        <Swatch look={looks.get(run.number)} />
        <AnchorLink to="/runs/$runId" params={{ runId: run.id }} fz="xs" lineClamp={2} title={run.name}>
          {labelOf(run)}
        </AnchorLink>
        <ActionIcon
          size="xs"
          color="gray"
          aria-label={t('compare.remove', { name: labelOf(run) })}
          onClick={() => onRemove(run)}
        >
          <IconX size={12} />
        </ActionIcon>
      </Group>
    </th>
  );
}

function TableRow({ row, places }: { row: Row; places: number[] }) {
  const { t } = useTranslation();
  return (
    <tr className={row.differs ? classes.differs : undefined}>
      <th className={classes.key} scope="row">
        {row.label}
        {row.goal && (
          <span aria-hidden title={t(`compare.goal.${row.goal}`)}>
            {row.goal === 'max' ? ' ↑' : ' ↓'}
          </span>
        )}
        {row.differs && <VisuallyHidden> {t('compare.differs')}</VisuallyHidden>}
      </th>
      {places.map((i) => {
        const isBest = row.best?.has(i);
        return (
          <td key={i} className={isBest ? `${classes.cell} ${classes.best}` : classes.cell}>
            {row.cells[i] ?? '–'}
            {isBest && <IconTrophy size={13} role="img" aria-label={t('compare.best')} style={{ marginLeft: 4 }} />}
          </td>
        );
      })}
    </tr>
  );
}
