/** Faults of the installation, for everybody; the codes are those of `GET /api/v1/state/`. */
export const faults = {
  region: 'Faults of the installation',
  more: 'System health',
  says: {
    database_away: 'The database does not answer: nothing can be read or written. Jobs go on.',
    valkey_away: 'Valkey does not answer: logs and curves are late, and nothing new is begun.',
    object_store_away: 'The object store does not answer: files cannot be uploaded, opened or committed.',
    clock_wrong: 'The clock of a server is wrong: uploads and downloads are refused.',
    worker_silent: 'No worker runs: runs are not started, and nothing is verified, committed or published.',
    beat_silent: 'Scheduler is down: interrupted work will not resume.',
    database_full: 'Writes are refused: the disk of the database is full.',
    database_read_only: 'Writes are refused: the database is read-only.',
    database_busy: 'The database has no connection left: pages may be slow.',
    database_slow: 'The database stores slowly: saving takes seconds.',
    valkey_full: 'Logs, curves and tasks wait: Valkey has reached its memory limit.',
    valkey_cannot_save: 'Logs, curves and tasks wait: Valkey cannot write to its disk.',
    disk_full: 'Writes are refused: the disk of the server is full.',
    disk_read_only: 'Writes are refused: the disk of the server is read-only.',
    disk_silent: 'Writes wait: the disk of the server does not answer in time.',
    object_store_failing: 'The object store is slow or fails: uploads and downloads are tried again.',
  },
  safe: 'Nothing acknowledged is lost.',
};
