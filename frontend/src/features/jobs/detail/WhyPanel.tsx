import { Alert, List, Skeleton, Text } from '@mantine/core';
import { IconClock, IconHelpCircle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Run } from '@/api/contract/jobs';
import { useWords } from '@/shared/domain/runWords';
import { Elapsed } from '@/shared/ui/values';
import { useExplanation } from '../queries';
import { useAnswer } from '../useAnswer';
import { GatePlans } from './GatePlans';

/** "Why isn't it running?", answered by the server from quota, data, runtime and placement. */
export function WhyPanel({ run }: { run: Run }) {
  const { t } = useTranslation();
  const words = useWords();
  const answerOf = useAnswer();
  const { data, error } = useExplanation(run.id, true);
  const plans = run.data_gate?.plans ?? [];
  if (error && !data) return null; // The state above says that it waits; this only explains.
  const isRunning = run.state === 'running';
  if (isRunning && !data?.reasons.length) return null;
  return (
    <Alert
      variant="light"
      color="atom"
      icon={<IconHelpCircle size={18} />}
      title={t(isRunning ? 'jobs.doubts' : 'jobs.why')}
      mb="sm"
      aria-live="polite"
    >
      {!data && <Skeleton height={14} width="60%" />}
      {data && (
        <>
          <Text size="sm" fw={600}>
            {answerOf(data)}
          </Text>
          <List size="sm" spacing={2} mt={4} icon={<IconClock size={14} aria-hidden />}>
            {data.reasons.map((reason) => (
              <List.Item key={reason.kind + reason.text}>
                {words.reason(reason)}
                {reason.kind === 'data_gate' && plans.length > 0 && (
                  <Text span inherit>
                    {' '}
                    <GatePlans plans={plans} />
                  </Text>
                )}
                {reason.action && (
                  <Text span inherit c="dimmed">
                    {' '}
                    {words.action(reason)}
                  </Text>
                )}
              </List.Item>
            ))}
          </List>
          {!isRunning && (
            <Text size="xs" c="dimmed" mt={4}>
              {t('jobs.waitingFor')} <Elapsed from={run.created_at} />
            </Text>
          )}
        </>
      )}
    </Alert>
  );
}
