import { Alert, Badge, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { NodeAgent } from '@/api/schema';
import { CommandLine } from '@/shared/ui/CommandLine';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { AgentDisk } from './AgentDisk';
import { Cards } from './Cards';
import { XidEvents } from './XidEvents';

/** The agent of one node: whether it reports, its disk, its cards and their errors. */
export function AgentCard({ agent, namespace }: { agent: NodeAgent; namespace: string }) {
  const { t } = useTranslation();
  const { node, is_reporting: reports, disk, gpus, xid_events: events } = agent;
  return (
    <Paper withBorder p="sm" component="article" aria-label={node}>
      <Stack gap="sm">
        <div>
          <Group gap="xs">
            <Title order={3} fz="sm" style={{ overflowWrap: 'anywhere' }}>
              {node}
            </Title>
            <Badge
              size="sm"
              color={reports ? 'teal' : 'red'}
              variant="light"
              leftSection={reports ? <IconCircleCheck size={12} aria-hidden /> : <IconCircleX size={12} aria-hidden />}
            >
              {t(reports ? 'agents.reporting' : 'agents.silent')}
            </Badge>
            {disk?.is_read_only && (
              <Badge size="sm" color="red" variant="light" leftSection={<IconAlertTriangle size={12} aria-hidden />}>
                {t('agents.readOnly')}
              </Badge>
            )}
          </Group>
          <Text size="xs" c="dimmed" component="div">
            {t('agents.joined')} <RelativeTime at={agent.joined_at} /> · {t('agents.lastReport')}{' '}
            <RelativeTime at={agent.reported_at} />
            {agent.version && ` · ${t('agents.release')} ${agent.version}`}
          </Text>
        </div>
        {!reports && <Silent node={node} namespace={namespace} />}
        {disk?.is_read_only && <Alert color="red">{t('agents.readOnlyText')}</Alert>}
        {disk?.problem && (
          <Alert color="red" style={{ overflowWrap: 'anywhere' }}>
            {disk.problem}
          </Alert>
        )}
        {disk ? <AgentDisk agent={agent} disk={disk} /> : <Text size="sm">{t('agents.noReport')}</Text>}
        <Cards node={node} cards={gpus} />
        <XidEvents node={node} events={events} cards={gpus} />
      </Stack>
    </Paper>
  );
}

function Silent({ node, namespace }: { node: string; namespace: string }) {
  const { t } = useTranslation();
  const command = `kubectl -n ${namespace} get pods -o wide --field-selector spec.nodeName=${node}`;
  return (
    <Alert color="orange">
      <Stack gap="xs">
        {t('agents.silentText')}
        <CommandLine command={command} />
      </Stack>
    </Alert>
  );
}
