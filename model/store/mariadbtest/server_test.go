package mariadbtest

import (
	"context"
	"database/sql"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestAServerIsKilledFrozenAndStartedAgain(t *testing.T) {
	t.Parallel()
	var dir string
	var pid int
	t.Run("lives", func(t *testing.T) {
		s := Start(t)
		dir, pid = s.dir, s.process.Process.Pid
		name := s.Database(t)
		s.Exec(t, "CREATE TABLE "+name+".t (n INT)", "INSERT INTO "+name+".t VALUES (7)")
		s.Kill()
		if err := s.ping(time.Second); err == nil {
			t.Error("a killed server answers")
		}
		s.Restart(t)
		s.Exec(t, "INSERT INTO "+name+".t SELECT n FROM "+name+".t")
		pid = s.process.Process.Pid
		s.Freeze()
		if err := s.ping(300 * time.Millisecond); err == nil {
			t.Error("a frozen server answers")
		}
		s.Thaw()
		if err := s.ping(10 * time.Second); err != nil {
			t.Errorf("thawed: %v", err)
		}
	})
	if pid == 0 {
		t.Skip("no server")
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("data was left: %v", err)
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("process %d was left: %v", pid, err)
	}
}

func (s *Server) ping(patience time.Duration) error {
	db, err := sql.Open("mysql", user+"@tcp("+s.Addr()+")/")
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return db.PingContext(ctx)
}
