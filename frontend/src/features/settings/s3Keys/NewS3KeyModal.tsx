import { Modal } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CreatedS3Key } from '@/api/contract/accounts';
import { NewS3KeyForm } from './NewS3KeyForm';
import { S3KeySecret } from './S3KeySecret';

/** First the form; then the secret, which only a deliberate press closes. */
export function NewS3KeyModal({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const [created, setCreated] = useState<CreatedS3Key | null>(null);
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={t('settings.s3.new')}
      closeOnClickOutside={created === null}
      closeOnEscape={created === null}
      withCloseButton={created === null}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      {created === null ? (
        <NewS3KeyForm onCreated={setCreated} onCancel={onClose} />
      ) : (
        <S3KeySecret created={created} onDone={onClose} />
      )}
    </Modal>
  );
}
