// Reads the operations of clients on locks, as JSON, and prints the paths whose history is not linearizable.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

type operation struct {
	Path   string `json:"path"`
	Client int    `json:"client"`
	// Milliseconds since 1970: the operation took effect between these two times.
	Call   int64 `json:"call"`
	Return int64 `json:"return"`
	// granted, held, released, released-or-gone, expired, backed-up, restored
	Kind string `json:"kind"`
	// The id of the granted, released, expired or blocking lock.
	ID    string `json:"id"`
	Fence int64  `json:"fence"`
}

// The lock on one path, and the one in the backup. The fence never decreases, not even in a restore.
type lock struct {
	id     string
	fence  int64
	backup string
}

func (now lock) with(id string, fence int64) lock {
	return lock{id: id, fence: fence, backup: now.backup}
}

func step(state, input, _ interface{}) (bool, interface{}) {
	now, op := state.(lock), input.(operation)
	free := now.with("", now.fence)
	switch op.Kind {
	case "granted":
		return now.id == "" && op.Fence > now.fence, now.with(op.ID, op.Fence)
	case "held":
		return now.id == op.ID, now
	case "released":
		return now.id == op.ID, free
	case "released-or-gone":
		if now.id == op.ID {
			return true, free
		}
		return now.fence >= op.Fence, now
	case "expired":
		return now.id == op.ID, free
	case "backed-up":
		return true, lock{id: now.id, fence: now.fence, backup: now.id}
	case "restored":
		return true, now.with(now.backup, now.fence)
	}
	return false, now
}

func main() {
	var all []operation
	if err := json.NewDecoder(os.Stdin).Decode(&all); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	histories := map[string][]porcupine.Operation{}
	for _, op := range all {
		one := porcupine.Operation{ClientId: op.Client, Input: op, Call: op.Call, Return: op.Return}
		histories[op.Path] = append(histories[op.Path], one)
	}
	model := porcupine.Model{Init: func() interface{} { return lock{} }, Step: step}
	for path, history := range histories {
		if result := porcupine.CheckOperationsTimeout(model, history, time.Minute); result != porcupine.Ok {
			fmt.Printf("%s: %s\n", path, result)
		}
	}
}
