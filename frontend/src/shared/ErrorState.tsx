import { Alert, Button, Code, Group, Text } from '@mantine/core';
import { IconAlertTriangle, IconCloudOff, IconLock, IconRefresh } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { type ApiError, asApiError } from '@/api/errors';
import { CopyId } from './CopyId';

export interface ErrorStateProps {
  /** Whatever was thrown; anything but an ApiError is wrapped. */
  error: unknown;
  onRetry?: () => void;
  /** Inside a form or a card: no margin, smaller. */
  compact?: boolean;
}

/** The words for an error: the server's own, or ours where it could not be asked. */
export function useErrorWords(error: ApiError): { title: string; detail: string; action: string } {
  const words = useTitledWords(error);
  // Without a detail of its own the server repeats the title.
  return { ...words, detail: words.detail === words.title ? '' : words.detail };
}

function useTitledWords(error: ApiError): { title: string; detail: string; action: string } {
  const { t } = useTranslation();
  if (error.status === 0 && error.code === 'unreachable')
    return { title: t('errors.unreachable'), detail: '', action: t('errors.unreachableHint') };
  if (error.status === 403)
    return { title: t('errors.forbidden'), detail: error.detail, action: error.action || t('errors.forbiddenHint') };
  if (error.status === 404)
    return { title: t('errors.notFound'), detail: error.detail, action: error.action || t('errors.notFoundHint') };
  return { title: error.title || t('errors.title'), detail: error.detail, action: error.action };
}

const iconFor = (status: number) => (status === 0 ? IconCloudOff : status === 403 ? IconLock : IconAlertTriangle);

export function ErrorState({ error: thrown, onRetry, compact = false }: ErrorStateProps) {
  const { t } = useTranslation();
  const error = asApiError(thrown);
  const words = useErrorWords(error);
  const Glyph = iconFor(error.status);
  return (
    <Alert
      color="red"
      variant="light"
      title={words.title}
      icon={<Glyph size={18} />}
      my={compact ? 0 : 'md'}
      role="alert"
    >
      {words.detail && <Text size="sm">{words.detail}</Text>}
      {words.action && <Text size="sm">{words.action}</Text>}
      <Group gap="md" mt="xs">
        {onRetry && (
          <Button size="compact-xs" variant="default" leftSection={<IconRefresh size={14} />} onClick={onRetry}>
            {t('common.retry')}
          </Button>
        )}
        {error.code && (
          <Text size="xs" component="span">
            {t('errors.code')} <Code fz="inherit">{error.code}</Code>
          </Text>
        )}
        {error.requestId && (
          <Text size="xs" component="span">
            {t('errors.requestId')} <CopyId value={error.requestId} />
          </Text>
        )}
      </Group>
    </Alert>
  );
}
