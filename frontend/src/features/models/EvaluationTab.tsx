import { Card, Group, List, Select, SimpleGrid, Skeleton, Text, Title } from '@mantine/core';
import { IconChartDots } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Evaluation, ModelVersion } from '@/api/contract/models';
import { useMay } from '@/shared/domain/project';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { AnchorLink } from '@/shared/ui/links';
import { MetricCard } from '@/shared/ui/MetricCard';
import { ConfusionMatrix } from './ConfusionMatrix';
import { type ClassScore, classScores, worstConfusions } from './confusion';
import { EvaluateLink } from './EvaluateLink';
import { useEvaluations } from './queries';
import type { modelVersionSearch } from './search';

export function EvaluationTab({ version }: { version: ModelVersion }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as ReturnType<typeof modelVersionSearch>;
  const mayRun = useMay('researcher');
  const { data, error, refetch } = useEvaluations(version.model, version.number);
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton height={260} radius="md" />;
  const all = data.results;
  const shown = all.find((one) => one.id === search.evaluation) ?? all[0];
  if (!shown)
    return (
      <EmptyState
        icon={IconChartDots}
        title={t(version.not_evaluable ? `models.notEvaluable.${version.not_evaluable}` : 'models.noEvaluation')}
        action={mayRun && !version.not_evaluable && <EvaluateLink version={version} />}
      />
    );
  return (
    <>
      {all.length > 1 && (
        <Select
          size="xs"
          maw={380}
          mb="sm"
          aria-label={t('models.evaluation')}
          allowDeselect={false}
          value={shown.id}
          onChange={(id) =>
            void navigate({ to: '.', search: (old) => ({ ...old, evaluation: id ?? undefined }), replace: true })
          }
          data={all.map((one) => ({
            value: one.id,
            label: t('models.evaluationOption', { data: `${one.dataset}@${one.ref}`, split: one.split }),
          }))}
        />
      )}
      <Shown evaluation={shown} />
    </>
  );
}

function Shown({ evaluation }: { evaluation: Evaluation }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { dataset, ref, split, n, accuracy, run, confusion } = evaluation;
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 3 }} mb="md">
        <MetricCard
          label={t('models.accuracy')}
          value={format.percent(accuracy, 2)}
          hint={t('models.onImages', { count: n })}
        />
        <MetricCard
          label={t('models.data')}
          value={
            <AnchorLink to="/datasets/$name" params={{ name: dataset }} search={{ ref, split }} fz={18}>
              {`${dataset}@${ref}`}
            </AnchorLink>
          }
          hint={t('models.split', { split })}
        />
        <MetricCard
          label={t('models.mistakes')}
          value={
            run && accuracy < 1 ? (
              <AnchorLink to="/runs/$runId/predictions" params={{ runId: run }} search={{ wrong: 1 }} fz={18}>
                {format.number(Math.round(n * (1 - accuracy)))}
              </AnchorLink>
            ) : (
              format.number(Math.round(n * (1 - accuracy)))
            )
          }
          hint={
            run && (
              <AnchorLink to="/runs/$runId" params={{ runId: run }} fz="inherit">
                {t('models.evaluationRun')}
              </AnchorLink>
            )
          }
        />
      </SimpleGrid>
      {confusion && <Details labels={confusion.labels} matrix={confusion.matrix} run={run} />}
    </>
  );
}

function Details({ labels, matrix, run }: { labels: string[]; matrix: number[][]; run: string | null }) {
  const { t } = useTranslation();
  const format = useFormat();
  const share = (value: number | null) => (value === null ? '–' : format.percent(value, 1));
  const number = (key: 'recall' | 'precision' | 'f1'): Column<ClassScore> => ({
    key,
    header: t(`models.${key}`),
    align: 'right',
    sortValue: (row) => row[key],
    cell: (row) => share(row[key]),
  });
  const columns: Column<ClassScore>[] = [
    { key: 'label', header: t('models.class'), cell: (row) => row.label, sortValue: (row) => row.label },
    {
      key: 'support',
      header: t('models.images'),
      align: 'right',
      cell: (row) => format.number(row.support),
      sortValue: (row) => row.support,
    },
    number('recall'),
    number('precision'),
    number('f1'),
  ];
  const worst = useMemo(() => worstConfusions(labels, matrix), [labels, matrix]);
  const scores = useMemo(() => classScores(labels, matrix), [labels, matrix]);
  return (
    <Group align="flex-start" gap="md">
      <Card style={{ flex: '1 1 420px', minWidth: 0 }}>
        <Group justify="space-between" mb="xs">
          <Title order={2} fz="sm">
            {t('models.confusion')}
          </Title>
          {run && worst.length > 0 && (
            <AnchorLink to="/runs/$runId/predictions" params={{ runId: run }} search={{ wrong: 1 }} size="sm">
              {t('models.allMistakes')}
            </AnchorLink>
          )}
        </Group>
        <ConfusionMatrix labels={labels} matrix={matrix} run={run} />
        {worst.length > 0 && (
          <>
            <Title order={3} fz="sm" mt="md" mb={4}>
              {t('models.worst')}
            </Title>
            <List size="sm">
              {worst.map(({ truth, predicted, count }) => (
                <List.Item key={`${truth}/${predicted}`}>
                  {run ? (
                    <AnchorLink
                      to="/runs/$runId/predictions"
                      params={{ runId: run }}
                      search={{ true: truth, predicted }}
                      size="sm"
                    >
                      {t('models.confused', { truth, predicted, count })}
                    </AnchorLink>
                  ) : (
                    t('models.confused', { truth, predicted, count })
                  )}
                </List.Item>
              ))}
            </List>
          </>
        )}
      </Card>
      <div style={{ flex: '1 1 360px', minWidth: 0 }}>
        <Text size="sm" fw={650} mb="xs">
          {t('models.perClass')}
        </Text>
        <DataTable
          label={t('models.perClass')}
          columns={columns}
          rows={scores}
          rowKey={(row) => row.label}
          empty={null}
        />
      </div>
    </Group>
  );
}
