import type { Translation } from '@/i18n/types';
import type { faults as english } from './faults.en';

export const faults: Translation<typeof english> = {
  region: '当前无法工作的部分',
  more: '系统健康',
  says: {
    database_away: '数据库没有响应：无法读取或写入。任务继续运行。',
    valkey_away: 'Valkey 没有响应：日志和曲线会延迟，也不会开始新的工作。',
    object_store_away: '对象存储没有响应：无法上传、打开或提交文件。',
    clock_wrong: '服务器时钟有误：上传和下载会被拒绝。',
    worker_silent: '没有工作进程在运行：运行不会启动，校验、提交和发布都停止了。',
    beat_silent: '调度进程没有运行：中断的工作不会被接续。',
    database_full: '写入被拒绝：数据库的磁盘已满。',
    database_read_only: '写入被拒绝：数据库处于只读状态。',
    database_busy: '数据库的连接已用完：页面可能变慢。',
    database_slow: '数据库存储缓慢：保存需要数秒。',
    valkey_full: '日志、曲线和任务需要等待：Valkey 已达到内存上限。',
    valkey_cannot_save: '日志、曲线和任务需要等待：Valkey 无法写入磁盘。',
    disk_full: '写入被拒绝：服务器的磁盘已满。',
    disk_read_only: '写入被拒绝：服务器的磁盘处于只读状态。',
    disk_silent: '写入需要等待：服务器的磁盘未及时响应。',
    object_store_failing: '对象存储缓慢或出错：上传和下载会自动重试。',
  },
  safe: '已确认的内容不会丢失。',
};
