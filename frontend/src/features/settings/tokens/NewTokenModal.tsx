import { Modal } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { NewTokenForm } from './NewTokenForm';
import { TokenSecret } from './TokenSecret';

/** First the form; then the secret, which only a deliberate press closes. */
export function NewTokenModal({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={t('settings.newToken')}
      closeOnClickOutside={secret === null}
      closeOnEscape={secret === null}
      withCloseButton={secret === null}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      {secret === null ? (
        <NewTokenForm onCreated={setSecret} onCancel={onClose} />
      ) : (
        <TokenSecret secret={secret} onDone={onClose} />
      )}
    </Modal>
  );
}
