import { Text } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '@/shared/ui/format';
import { AnchorLink } from '@/shared/ui/links';
import { worstLabels } from './confusion';
import classes from './models.module.css';

/** A table of more can neither be read nor drawn: a thousand classes have a million cells. */
const MOST_LABELS = 60;

interface ConfusionMatrixProps {
  labels: string[];
  matrix: number[][];
  /** The run that measured: its page shows the pictures of a cell. */
  run?: string | null;
}

/** A table of counts; the tint of a cell is its share of the row, teal for right answers, red for wrong ones. */
export function ConfusionMatrix({ labels, matrix, run }: ConfusionMatrixProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const shown = useMemo(
    () => (labels.length > MOST_LABELS ? worstLabels(matrix, MOST_LABELS) : [...labels.keys()]),
    [labels, matrix],
  );
  const word = (index: number) => labels[index] ?? '';
  const tint = (count: number, total: number, right: boolean) => {
    if (count === 0 || total === 0) return undefined;
    // Never fully opaque: the text keeps its contrast on both themes.
    const share = Math.round(12 + 30 * (count / total));
    return `color-mix(in srgb, var(--mantine-color-${right ? 'teal' : 'red'}-6) ${share}%, transparent)`;
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls by keyboard
    <section className={classes.wrap} tabIndex={0} aria-label={t('models.confusion')}>
      <table className={classes.matrix}>
        <caption style={{ captionSide: 'bottom', textAlign: 'left', paddingTop: 6 }}>
          <Text size="xs" c="dimmed" component="span">
            {t('models.confusionHint')}
            {shown.length < labels.length &&
              ` ${t('models.confusionPart', { shown: shown.length, all: labels.length })}`}
          </Text>
        </caption>
        <thead>
          <tr>
            <th scope="col">{t('models.truthByAnswer')}</th>
            {shown.map((column) => (
              <th key={column} scope="col" style={{ textAlign: 'center' }}>
                {word(column)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => {
            const truth = word(row);
            const counts = matrix[row] ?? [];
            const total = counts.reduce((sum, count) => sum + count, 0);
            return (
              <tr key={row}>
                <th scope="row" style={{ textAlign: 'right' }}>
                  {truth}
                </th>
                {shown.map((column) => {
                  const count = counts[column] ?? 0;
                  const title = t('models.cell', {
                    truth,
                    predicted: word(column),
                    count,
                    share: format.percent(total ? count / total : 0, 1),
                  });
                  return (
                    <td
                      key={column}
                      title={title}
                      data-zero={count === 0 || undefined}
                      style={{
                        background: tint(count, total, row === column),
                        fontWeight: row === column ? 650 : undefined,
                      }}
                    >
                      {count > 0 && run ? (
                        <AnchorLink
                          to="/runs/$runId/predictions"
                          params={{ runId: run }}
                          search={{ true: truth, predicted: word(column) }}
                          c="inherit"
                          fz="inherit"
                          aria-label={title}
                        >
                          {format.number(count)}
                        </AnchorLink>
                      ) : (
                        format.number(count)
                      )}
                    </td>
                  );
                })}
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
