import { ScrollArea, Table } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../ui/format';
import type { CurveLine } from './curveLine';

const MAX_ROWS = 200;

interface ChartTableProps {
  title: string;
  lines: CurveLine[];
  from: number;
  to: number;
  xLabel?: string;
  height: number;
}

/** The steps of the longest curve, thinned evenly, and those of NaN; others show their point at or before a step. */
function thinnedSteps(lines: CurveLine[], from: number, to: number): number[] {
  const longest = lines.reduce<CurveLine | null>((a, b) => (a && a.series.length >= b.series.length ? a : b), null);
  if (!longest) return [];
  const undrawn = lines.flatMap((line) => line.series.undrawn.map(({ x }) => x)).filter((x) => x >= from && x <= to);
  const { series } = longest;
  const [start, end] = [series.indexOf(from), series.indexOf(to + 1e-9)];
  const stride = Math.max(1, Math.ceil((end - start) / MAX_ROWS));
  const steps: number[] = [];
  for (let i = start; i < end; i += stride) steps.push(series.x(i));
  if (end > start && steps.at(-1) !== series.x(end - 1)) steps.push(series.x(end - 1));
  return [...new Set([...steps, ...undrawn.slice(0, MAX_ROWS)])].sort((a, b) => a - b);
}

function valueAt({ series }: CurveLine, step: number): number | null {
  const exact = series.at(step);
  if (exact !== undefined) return exact;
  const i = series.indexOf(step);
  return i > 0 && i < series.length ? series.y(i - 1) : null;
}

/** The content of a LineChart, for those who cannot see it. */
export function ChartTable({ title, lines, from, to, xLabel = 'x', height }: ChartTableProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const steps = useMemo(() => thinnedSteps(lines, from, to), [lines, from, to]);
  return (
    <ScrollArea h={height} viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': title }}>
      <Table stickyHeader verticalSpacing={2} fz="xs">
        <Table.Caption>{t('chart.tableCaption', { title, count: steps.length })}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th ta="right">{xLabel}</Table.Th>
            {lines.map((line) => (
              <Table.Th key={line.id} ta="right">
                {line.label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody className="tabular">
          {steps.map((step) => (
            <Table.Tr key={step}>
              <Table.Th ta="right" scope="row" fw={400}>
                {format.number(step, 3)}
              </Table.Th>
              {lines.map((line) => {
                const value = valueAt(line, step);
                return (
                  <Table.Td key={line.id} ta="right">
                    {value === null ? '–' : format.metric(value)}
                  </Table.Td>
                );
              })}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea>
  );
}
