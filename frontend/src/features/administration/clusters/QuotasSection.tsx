import { Button, Skeleton, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Quota, Quotas } from '@/api/schema';
import { useRights } from '@/shared/domain/project';
import { Dialog } from '@/shared/ui/Dialog';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import QuotasForm from './QuotasForm';
import { useQuotas } from './queries';

const NOTHING: Quota = { cpus: 0, memory_bytes: 0, pods: 0, accelerators: {} };

/** The most that the pods of a project hold in a cluster; administrators of the installation edit it. */
export default function QuotasSection({ cluster }: { cluster: string }) {
  const { t } = useTranslation();
  const { installation } = useRights();
  const { data: quotas, error, refetch } = useQuotas(cluster);
  const [isEditing, setEditing] = useState(false);
  const close = () => setEditing(false);
  if (error && !quotas) return <ErrorState error={error} compact onRetry={() => void refetch()} />;
  if (!quotas) return <Skeleton height={80} aria-busy />;
  return (
    <Stack gap="sm">
      <QuotaTable quotas={quotas} />
      {installation && (
        <div>
          <Button variant="default" onClick={() => setEditing(true)}>
            {t('clusterQuotas.edit')}
          </Button>
        </div>
      )}
      <Dialog opened={isEditing} onClose={close} size="lg" title={t('clusterQuotas.edit')}>
        <QuotasForm cluster={cluster} quotas={quotas} onDone={close} />
      </Dialog>
    </Stack>
  );
}

function QuotaTable({ quotas }: { quotas: Quotas }) {
  const { t } = useTranslation();
  const { every_project: common, projects = [], used = [] } = quotas;
  if (!common && projects.length === 0) return <Text size="sm">{t('clusterQuotas.none')}</Text>;
  const everyone = projects.length > 0 ? t('clusterQuotas.everyOther') : t('clusterQuotas.everyProject');
  const heldBy = (project: string) => used.find((one) => one.project === project) ?? NOTHING;
  const others = used.filter(({ project }) => !projects.some((one) => one.project === project));
  const rows: { name: string; limits?: Quota | null; use?: Quota }[] = [
    ...projects.map((one) => ({ name: one.project, limits: one, use: heldBy(one.project) })),
    ...others.map((one) => ({ name: one.project, limits: common, use: one })),
    { name: everyone, limits: common },
  ];
  return (
    <Table.ScrollContainer minWidth={320} type="native" tabIndex={0}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('clusterQuotas.project')}</Table.Th>
            <Table.Th>{t('clusterQuotas.used')}</Table.Th>
            <Table.Th>{t('clusterQuotas.limit')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ name, limits, use }) => (
            <Table.Tr key={name}>
              <Table.Td>{name}</Table.Td>
              <Table.Td>{use && <Amounts of={use.pods ? use : null} none={t('clusterQuotas.nothingUsed')} />}</Table.Td>
              <Table.Td>
                <Amounts of={limits ?? null} none={t('clusterQuotas.noLimit')} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Amounts({ of: amounts, none }: { of: Quota | null; none: string }) {
  const { t } = useTranslation();
  const format = useFormat();
  const texts = amounts
    ? [
        ...(amounts.cpus == null ? [] : [`${format.number(amounts.cpus)} ${t('clusterQuotas.cpus')}`]),
        ...(amounts.memory_bytes == null ? [] : [format.bytes(amounts.memory_bytes)]),
        ...(amounts.pods == null ? [] : [`${t('clusterQuotas.pods')}: ${format.number(amounts.pods)}`]),
        ...Object.entries(amounts.accelerators ?? {}).map(([name, count]) => `${format.number(count)} × ${name}`),
      ]
    : [];
  return <span style={{ overflowWrap: 'anywhere' }}>{texts.join(' · ') || none}</span>;
}
