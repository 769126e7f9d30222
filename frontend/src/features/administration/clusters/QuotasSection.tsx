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
  const { every_project: common, projects = [] } = quotas;
  if (!common && projects.length === 0) return <Text size="sm">{t('clusterQuotas.none')}</Text>;
  const everyone = projects.length > 0 ? t('clusterQuotas.everyOther') : t('clusterQuotas.everyProject');
  const rows = [
    ...projects.map((one) => ({ name: one.project, limits: one as Quota })),
    { name: everyone, limits: common },
  ];
  return (
    <Table.ScrollContainer minWidth={320} type="native" tabIndex={0}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('clusterQuotas.project')}</Table.Th>
            <Table.Th>{t('clusterQuotas.limit')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ name, limits }) => (
            <Table.Tr key={name}>
              <Table.Td>{name}</Table.Td>
              <Table.Td>
                <Limits limits={limits ?? null} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Limits({ limits }: { limits: Quota | null }) {
  const { t } = useTranslation();
  const format = useFormat();
  const said = limits
    ? [
        ...(limits.cpus == null ? [] : [`${format.number(limits.cpus)} ${t('clusterQuotas.cpus')}`]),
        ...(limits.memory_bytes == null ? [] : [format.bytes(limits.memory_bytes)]),
        ...(limits.pods == null ? [] : [`${t('clusterQuotas.pods')}: ${format.number(limits.pods)}`]),
        ...Object.entries(limits.accelerators ?? {}).map(([name, count]) => `${format.number(count)} × ${name}`),
      ]
    : [];
  return <span style={{ overflowWrap: 'anywhere' }}>{said.join(' · ') || t('clusterQuotas.noLimit')}</span>;
}
