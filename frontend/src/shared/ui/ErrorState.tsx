import { Alert, Button, Code, Group, Text } from '@mantine/core';
import { IconAlertTriangle, IconCloudOff, IconHourglass, IconLock, IconRefresh } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { type ApiError, asApiError } from '@/api/errors';
import { fieldWords, translatedProblem } from '../domain/problemWords';
import { CopyId } from './CopyId';
import { ForbiddenWays } from './ForbiddenWays';

export interface ErrorStateProps {
  /** Whatever was thrown; anything but an ApiError is wrapped. */
  error: unknown;
  onRetry?: () => void;
  /** Inside a form or a card: no margin, smaller. */
  compact?: boolean;
  /** The component that shows it asks again by itself. */
  retrying?: boolean;
  /** Fields whose errors stand beside them; all others are told here. */
  shownFields?: readonly string[];
}

/** The words for an error: the server's own, or ours where it could not be asked. */
export function useErrorWords(error: ApiError, retrying = false): { title: string; detail: string; action: string } {
  const words = useTitledWords(error, retrying);
  // Without a detail of its own the server repeats the title.
  return { ...words, detail: words.detail === words.title ? '' : words.detail };
}

function useTitledWords(error: ApiError, retrying: boolean): { title: string; detail: string; action: string } {
  const { t } = useTranslation();
  if (error.status === 0 && error.code === 'unreachable')
    return {
      title: t('errors.unreachable'),
      detail: '',
      action: t(retrying ? 'errors.unreachableRetrying' : 'errors.unreachableHint'),
    };
  if (error.isTemporary)
    return {
      title: t(retrying ? 'errors.unavailableRetrying' : 'errors.unavailable'),
      detail: '',
      action: retrying ? '' : t('errors.unavailableHint'),
    };
  const translated = translatedProblem(error);
  if (translated) return translated;
  if (error.status === 403)
    return { title: t('errors.forbidden'), detail: error.detail, action: error.action || t('errors.forbiddenHint') };
  if (error.status === 404)
    return {
      title: error.title || t('errors.nothingHere'),
      detail: error.detail,
      action: error.action || t('errors.notFoundHint'),
    };
  return { title: error.title || error.detail || t('errors.title'), detail: error.detail, action: error.action };
}

const iconFor = ({ status, isTemporary }: ApiError) => {
  if (isTemporary) return IconHourglass;
  return status === 0 ? IconCloudOff : status === 403 ? IconLock : IconAlertTriangle;
};

export function ErrorState(props: ErrorStateProps) {
  const { error: thrown, onRetry, compact = false, retrying = false, shownFields = [] } = props;
  const { t } = useTranslation();
  const error = asApiError(thrown);
  const words = useErrorWords(error, retrying);
  const Glyph = iconFor(error);
  const wrong = Object.entries(fieldWords(error)).filter(([name]) => !shownFields.includes(name));
  return (
    <Alert
      color={error.isTemporary ? 'yellow' : 'red'}
      variant="light"
      title={words.title}
      icon={<Glyph size={18} />}
      my={compact ? 0 : 'md'}
      role="alert"
    >
      {words.detail && <Text size="sm">{words.detail}</Text>}
      {wrong.map(([name, said]) => (
        <Text key={name} size="sm" style={{ overflowWrap: 'anywhere' }}>
          <Code fz="inherit">{name}</Code> {said}
        </Text>
      ))}
      {words.action && <Text size="sm">{words.action}</Text>}
      <Group gap="md" mt="xs">
        {/* A second try meets the same role. */}
        {onRetry && error.status !== 403 && (
          <Button size="compact-xs" variant="default" leftSection={<IconRefresh size={14} />} onClick={onRetry}>
            {t('common.retry')}
          </Button>
        )}
        {error.code && !error.isTemporary && (
          <Text size="xs" component="span">
            {t('errors.code')} <Code fz="inherit">{error.code}</Code>
          </Text>
        )}
        {error.requestId && !error.isTemporary && (
          <Text size="xs" component="span">
            {t('errors.requestId')} <CopyId value={error.requestId} />
          </Text>
        )}
      </Group>
      {error.status === 403 && onRetry && !compact && <ForbiddenWays />}
    </Alert>
  );
}
