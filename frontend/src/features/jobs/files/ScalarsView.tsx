import { Card, SimpleGrid, Text } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { PreviewCurve } from '@/api/contract/jobs';
import { curveColor } from '@/shared/charts/colors';
import { LineChart } from '@/shared/charts/LineChart';
import { Series } from '@/shared/charts/series';
import { numbersOf } from '@/shared/domain/metricValue';

/** The scalars of a TensorBoard event file, a chart each. */
export function ScalarsView({ curves, others }: { curves: readonly PreviewCurve[]; others: number }) {
  const { t } = useTranslation();
  return (
    <>
      {curves.length === 0 && <Text c="dimmed">{t('runpage.preview.noScalars')}</Text>}
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {curves.map((curve) => (
          <Card key={curve.key} withBorder padding="xs">
            <Chart curve={curve} />
          </Card>
        ))}
      </SimpleGrid>
      {others > 0 && (
        <Text size="sm" c="dimmed" mt="sm">
          {t('runpage.preview.others', { count: others })}
        </Text>
      )}
    </>
  );
}

function Chart({ curve }: { curve: PreviewCurve }) {
  const { t } = useTranslation();
  const lines = useMemo(
    () => [
      {
        id: curve.key,
        label: curve.key,
        color: curveColor(0),
        series: Series.from(curve.steps, numbersOf(curve.values)),
      },
    ],
    [curve],
  );
  return <LineChart title={curve.key} lines={lines} xLabel={t('jobs.curves.byStep')} height={180} />;
}
